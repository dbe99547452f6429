import type { APIEmbed } from "discord-api-types/v10";
import { LRUCache } from "lru-cache";
import type { ScreenAddress } from "../screens/addresses.js";
import type { Choice, ExplorerPage, View } from "../screens/view.js";
import { DEFAULT_COIN, withCoin } from "../text/coin.js";
import { escapeText, type Markdown, md } from "../text/markdown.js";
import { cut, oneLine } from "../text/plain.js";
import { digest } from "../util/digest.js";
import { perObject } from "../util/per-object.js";
import { fileName, type MessageWords, toEmbed, withLabel } from "./embed.js";
import { LIMITS } from "./limits.js";
import type { Links } from "./links.js";
import { type ButtonRow, menuOption, toRows } from "./rows.js";

/** Maximum length of a thread's name (Discord: 100 characters). */
const MAX_THREAD_NAME = 100;

/**
 * The content of a message, for a reply, an edit or a post. It pings no one. `attachments` is empty, so that an edit removes the
 * previous files.
 */
export interface MessagePayload {
  /** The text of the notification on a phone, which does not show embeds. */
  readonly content?: string;
  readonly embeds: APIEmbed[];
  readonly components: ButtonRow[];
  readonly files: { readonly attachment: Buffer; readonly name: string; readonly description?: string }[];
  readonly attachments: [];
  readonly allowedMentions: { readonly parse: [] };
}

/** Renders views as messages within Discord's limits, even if the explorer returns unexpected data. */
export interface Renderer {
  /** Renders a screen, with buttons to refresh it, to turn its pages and to go back. */
  screen(view: View, here: ScreenAddress, back: ScreenAddress | undefined): MessagePayload;
  /** Renders a message that is not a screen, without refresh and page buttons. */
  message(view: View): MessagePayload;
  /** Returns the title for use outside of messages: in threads, calendar events and choices. */
  title(text: string): string;
  /** Returns the mark that identifies a delivery's message in one of its links. It is also the nonce (Discord: 25 characters). */
  mark(deliveryId: string): string;
  /** Words for the option that a command needs to be about this network. Empty if the bot serves only one. */
  readonly networkOption: Markdown;
}

/** Returns the length that a title may have so that it is not cut, in UTF-16 units. */
export const titleRoom = ({ title }: Pick<Renderer, "title">): number => MAX_THREAD_NAME - title("").length;

/** Options of a renderer. */
interface RendererOptions {
  /** Discord's ids by command path. Empty until the commands are registered. */
  readonly commands?: () => ReadonlyMap<string, string>;
  /** Returns the URL of a thing's page in the web explorer, if one is set. */
  readonly pageOf?: (thing: ExplorerPage) => string | undefined;
  /** The network's name if messages show it. */
  readonly label?: string | undefined;
  readonly networkOption?: Markdown;
  /** Name of the coin's unit. */
  readonly coin?: string | undefined;
  /** Added to marks, so that messages of different networks in one channel have different marks. */
  readonly salt?: () => string | undefined;
}

/** The last message of a view, with the addresses in its buttons and the commands in its text. */
interface RenderedView {
  readonly at: string;
  readonly paths: MessageWords["commands"];
  readonly message: MessagePayload;
}

/**
 * Number of views whose messages are kept. A few screens show many people the same view (per-object.ts). Each view keeps its readings
 * in memory.
 */
const MAX_RENDERED = 5;

/** Renders views, with links made by `links`. */
export function createRenderer(links: Links, options: RendererOptions = {}): Renderer {
  const {
    commands = () => new Map<string, string>(),
    pageOf = () => undefined,
    label,
    networkOption = md``,
    coin = DEFAULT_COIN,
    salt = () => undefined,
  } = options;
  // Choices lead to things that the explorer has listed, never to the text that a person typed.
  const toOption = perObject((choice: Choice) => menuOption(choice, links, coin));
  const renderNew = (view: View, words: MessageWords, here?: ScreenAddress, back?: ScreenAddress) => {
    const writer = view.isNothing ? links.unkept : links;
    const page = view.explorerPage && pageOf(view.explorerPage);
    const rows = toRows(view, here, back, writer, page, toOption);
    return toMessage(view, rows, words, here !== undefined);
  };
  const rendered = new LRUCache<View, RenderedView>({ max: MAX_RENDERED });
  const render = (view: View, here?: ScreenAddress, back?: ScreenAddress): MessagePayload => {
    const paths = commands();
    const addressKey = JSON.stringify([here, back]);
    const lastRendered = rendered.get(view);
    if (lastRendered?.at === addressKey && lastRendered.paths === paths) return lastRendered.message;
    const message = renderNew(view, { commands: paths, coin, label }, here, back);
    if (!view.files) rendered.set(view, { at: addressKey, paths, message });
    return message;
  };
  return {
    screen: render,
    message: (view) => render(view),
    title: (text) => withLabel(withCoin(text, coin), label, MAX_THREAD_NAME, cut),
    mark: (id) => digest(`${salt() ?? ""}${id}`, 25),
    networkOption,
  };
}

function toMessage(
  view: View,
  components: ButtonRow[],
  words: MessageWords,
  hasRefresh: boolean,
): MessagePayload {
  const { coin, label } = words;
  const attachedFiles = view.picture ? [view.picture, ...(view.files ?? [])] : (view.files ?? []);
  const payload: MessagePayload = {
    embeds: [toEmbed(view, words, hasRefresh)],
    components,
    files: attachedFiles.map(({ content, description, ...file }) => {
      const attachment = { attachment: content, ...file, name: fileName(file.name, label) };
      return description === undefined
        ? attachment
        : { ...attachment, description: oneLine(withCoin(description, coin), LIMITS.fileText) };
    }),
    attachments: [],
    allowedMentions: { parse: [] },
  };
  if (!view.notification) return payload;
  const notification = withCoin(view.notification.toString(), coin);
  const content = withLabel(notification, label && escapeText(label).toString(), LIMITS.title);
  return { content, ...payload };
}

/** Returns a message without its pictures, for a retry if Discord rejects it because of one. */
export function withoutPictures(payload: MessagePayload): MessagePayload {
  const embeds = payload.embeds.map(({ thumbnail, image, ...rest }) => rest);
  const files = payload.files.filter(({ name }) => !name.endsWith(".png"));
  return { ...payload, embeds, files };
}
