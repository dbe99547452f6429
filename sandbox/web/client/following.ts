/** Distance from the end that counts as being there, in pixels. */
const NEAR_PX = 120;

/** True unless the reader has scrolled to older messages. */
let isFollowing = true;

/** Scrolls to the newest message after the next render. */
function scrollDown(): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const log = document.querySelector(".log");
      if (log) log.scrollTop = log.scrollHeight;
    }),
  );
}

/** Shows the newest message, and those that follow. */
export function follow(): void {
  isFollowing = true;
  scrollDown();
}

/** Shows the newest message, unless the reader has scrolled to older ones. */
export function keepUp(): void {
  if (isFollowing) scrollDown();
}

/** Notes if the reader has scrolled to older messages, or back to the end. */
export function noteScroll({ currentTarget: log }: Event): void {
  if (log instanceof Element) isFollowing = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX;
}

/** Pictures that load make messages longer. */
const growth = new ResizeObserver(keepUp);
let watched: Element | null = null;

/** Watches the messages on the page for growth. They are created again with another theme. */
export function watchGrowth(): void {
  const content = document.querySelector(".log > *");
  if (content === watched) return;
  growth.disconnect();
  if (content) growth.observe(content);
  watched = content;
}
