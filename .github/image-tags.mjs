// Prints which moving tags an image gets: git tag | node .github/image-tags.mjs v0.2.1
// "newest" is true if no released version is higher, and "newest-patch" if none with the same major and minor is.
import { readFileSync } from "node:fs";

const parse = (tag) => /^v(\d+)\.(\d+)\.(\d+)$/.exec(tag)?.slice(1).map(Number);
const isHigher = (a, b) => {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at] > b[at];
};

const own = parse(process.argv[2] ?? "");
const released = readFileSync(0, "utf8")
  .split("\n")
  .map((line) => parse(line.trim()))
  .filter((each) => each !== undefined);
const higher = own ? released.filter((each) => isHigher(each, own)) : [];
// A release candidate is none of both.
console.log(`newest=${own !== undefined && higher.length === 0}`);
console.log(
  `newest-patch=${own !== undefined && !higher.some(([major, minor]) => major === own[0] && minor === own[1])}`,
);
