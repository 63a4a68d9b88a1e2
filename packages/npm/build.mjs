// Writes the npm packages: node build.mjs OUT PLATFORM=BINARY…
//
// `ownerlint` is a few lines of JavaScript; the binary is in an optional dependency, of which npm installs the one for the
// machine that it runs on. The version is the one in Cargo.toml.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const platforms = JSON.parse(readFileSync(join(here, "platforms.json"), "utf8"));

const [out, ...binaries] = process.argv.slice(2);
if (!out || binaries.length === 0) {
  console.error("usage: node build.mjs OUT PLATFORM=BINARY…");
  process.exit(2);
}
const manifest = readFileSync(join(root, "Cargo.toml"), "utf8");
const version = /^version = "(.+)"$/m.exec(manifest)[1];
const common = {
  version,
  description: /^description = "(.+)"$/m.exec(manifest)[1],
  license: /^license = "(.+)"$/m.exec(manifest)[1].replace(/^(.+)$/, "($1)"),
  repository: { type: "git", url: `git+${/^repository = "(.+)"$/m.exec(manifest)[1]}.git` },
};

function write(folder, description) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(description, null, 2)}\n`);
  for (const file of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, file), join(folder, file));
}

const built = binaries.map((argument) => {
  const [platform, binary] = [argument.slice(0, argument.indexOf("=")), argument.slice(argument.indexOf("=") + 1)];
  if (!(platform in platforms)) {
    console.error(`${platform}: not one of ${Object.keys(platforms).join(", ")}`);
    process.exit(2);
  }
  const folder = join(out, platform);
  write(folder, { name: `@ownerlint/${platform}`, ...common, ...platforms[platform], preferUnplugged: true });
  const file = platforms[platform].os[0] === "win32" ? "ownerlint.exe" : "ownerlint";
  copyFileSync(binary, join(folder, file));
  chmodSync(join(folder, file), 0o755);
  return platform;
});

const main = join(out, "ownerlint");
write(main, {
  name: "ownerlint",
  ...common,
  bin: { ownerlint: "ownerlint.js" },
  engines: { node: ">=18" },
  optionalDependencies: Object.fromEntries(built.map((platform) => [`@ownerlint/${platform}`, version])),
});
for (const file of ["ownerlint.js", "platforms.json"]) copyFileSync(join(here, file), join(main, basename(file)));
copyFileSync(join(here, "README.md"), join(main, "README.md"));
