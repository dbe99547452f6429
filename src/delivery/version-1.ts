/** The only feed of version 1. Its documents do not contain the feed's name, and its ids have no prefix. */
export const FIRST_FEED = "governance";
