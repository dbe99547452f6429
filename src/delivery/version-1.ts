/** The only feed of version 1, whose documents name no feed, and whose ids have no feed before them. */
export const FIRST_FEED = "governance";
