// Prints what CHANGELOG.md says of a version, for its release: node .github/release-notes.mjs v0.2.0
import { readFileSync } from "node:fs";

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const version = (process.argv[2] ?? "").replace(/^v/, "");
const packaged = JSON.parse(read("package.json")).version;
const sections = read("CHANGELOG.md").split(/^## /m);
const unreleased = sections
  .find((text) => text.startsWith("[Unreleased]"))
  ?.replace("[Unreleased]", "")
  .trim();
const section = sections.find((text) => text.startsWith(`[${version}]`) || text.startsWith(`${version} `));
const notes = section?.split("\n").slice(1).join("\n").trim();

if (unreleased) {
  console.error("CHANGELOG.md has changes under [Unreleased]: move them to the section of this version.");
  process.exitCode = 1;
} else if (version !== packaged || !notes) {
  console.error(
    version === packaged
      ? `CHANGELOG.md says nothing of ${version}: add a section “## [${version}] - <date>”.`
      : `The tag says ${version || "nothing"}, and package.json ${packaged}: they have to be the same.`,
  );
  process.exitCode = 1;
} else console.log(notes);
