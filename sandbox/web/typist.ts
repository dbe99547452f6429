import type { Page } from "playwright-core";

/** Types a command on the page, fills its options in by keyboard (text is completed, and the first offer taken), and sends it. */
export async function typeCommand(
  page: Page,
  command: string,
  options: Readonly<Record<string, string>> = {},
): Promise<void> {
  await page.locator(".say").fill(`/${command}`);
  await page
    .getByRole("option", { name: `/${command}` })
    .first()
    .waitFor();
  await page.keyboard.press("Enter");
  for (const [name, value] of Object.entries(options)) {
    const field = page.locator(`#option-${name}`);
    if ((await field.evaluate((element) => element.tagName)) === "SELECT") await field.selectOption(value);
    else {
      await field.fill(value);
      // What is offered for this text, and not for what stood there before, is taken once it is there.
      await page.keyboard.press("Enter");
      await page.locator(`#option-${name}:not([aria-busy])`).waitFor();
    }
  }
  await page.locator(".composer [type=submit]").click();
}
