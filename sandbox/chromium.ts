import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** Where Chromium is installed, by Debian's name for it or another; undefined if it is not. */
export const chromiumPath = ["chromium", "chromium-browser", "google-chrome"]
  .flatMap((name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)))
  .find((path) => existsSync(path));

/** Starts it without a window. @throws {Error} if it is not installed */
export function startChromium(): Promise<Browser> {
  if (chromiumPath === undefined)
    throw new Error("This needs chromium. Install it with: apt-get install chromium");
  // It runs nothing but our own page; as root it would not start otherwise.
  return chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
}
