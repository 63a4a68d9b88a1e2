#!/usr/bin/env node
"use strict";
// Starts the binary that npm installed for this machine, with the same arguments, streams and exit status.
const { spawnSync } = require("node:child_process");
const platforms = require("./platforms.json");

const file = process.platform === "win32" ? "ownerlint.exe" : "ownerlint";
const candidates = Object.keys(platforms).filter(
  (name) => platforms[name].os.includes(process.platform) && platforms[name].cpu.includes(process.arch),
);

function installed() {
  for (const name of candidates) {
    try {
      return require.resolve(`@ownerlint/${name}/${file}`);
    } catch {
      // npm installs only the package whose C library is the machine's.
    }
  }
  return undefined;
}

const binary = installed();
if (binary === undefined) {
  const missing = candidates.map((name) => `@ownerlint/${name}`).join(" or ");
  console.error(
    candidates.length === 0
      ? `ownerlint: there is no binary for ${process.platform} on ${process.arch}; build it from source`
      : `ownerlint: ${missing} is not installed; install ownerlint without --omit=optional`,
  );
  process.exit(2);
}
const { error, status, signal } = spawnSync(binary, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`ownerlint: ${error.message}`);
  process.exit(2);
}
if (signal) process.kill(process.pid, signal);
process.exit(status);
