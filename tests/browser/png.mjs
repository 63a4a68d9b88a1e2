// Small pictures: PNG with a palette, and a text inside that says what the picture shows.

import { crc32, deflateSync } from "node:zlib";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const COLOURS = 96;

const chunk = (type, data) => {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
};

/** The colours that most pixels have, and for each other colour the nearest of them. */
const palette = (pixels) => {
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) || 0) + 1);
  const parts = (colour) => [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
  const distance = (a, b) => a.reduce((sum, part, at) => sum + (part - b[at]) ** 2, 0);
  const sorted = [...counts].sort(([a, x], [b, y]) => y - x || a - b).map(([colour]) => colour);
  const colours = sorted.slice(0, COLOURS).map(parts);
  const nearest = (colour) => {
    const mine = parts(colour);
    return colours.reduce((best, one, at) => (distance(one, mine) < distance(colours[best], mine) ? at : best), 0);
  };
  return { colours, indexes: new Map(sorted.map((colour) => [colour, nearest(colour)])) };
};

/** A picture of opaque pixels, each a number as a browser's canvas has it: red in the lowest byte. */
export const encoded = ({ width, height }, pixels, text) => {
  const { colours, indexes } = palette(pixels);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for a place in the palette; nothing is interlaced or filtered.
  header.set([8, 3, 0, 0, 0], 8);
  const lines = Buffer.alloc((width + 1) * height);
  pixels.forEach((pixel, at) => (lines[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = indexes.get(pixel)));
  return Buffer.concat([
    SIGNATURE, chunk("IHDR", header), chunk("PLTE", Buffer.from(colours.flat())),
    chunk("tEXt", Buffer.from(`Description\0${text}`, "latin1")),
    chunk("IDAT", deflateSync(lines, { level: 9 })), chunk("IEND", Buffer.alloc(0)),
  ]);
};

/** The size, the sort of colours and the text of a picture. */
export const described = (png) => {
  let text = null;
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString("latin1", at + 4, at + 8) === "tEXt") text = png.toString("latin1", at + 8, at + 8 + length).split("\0")[1];
    at += length + 12;
  }
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20), hasPalette: png[25] === 3, text };
};
