import type { Directory } from "../../directory/directory.js";
import type { NetworkRhythm } from "../../ledger/network-rhythm.js";
import type { Rounds } from "../../ledger/rounds.js";
import type { UpgradeDecision } from "../../ledger/upgrades.js";
import type { VersionSurvey } from "../../ledger/versions.js";
import type { Alert } from "./collections.js";
import type { PollFindings } from "./findings.js";
import type { Loaded } from "./memory.js";
import type { ActivityReading } from "./reading.js";

/** Data of the whole network in one reading of the validators. */
export interface NetworkReading {
  /** The network's rhythm, and the default interval for validators whose own rhythm is unknown, in ms. */
  readonly rhythm: NetworkRhythm | undefined;
  readonly intervalMs: number;
  /** Time of the explorer's newest data, epoch ms. */
  readonly asOf: number;
  /** Time up to which the list of validators shows who is silent, epoch ms. Not later than `asOf`. */
  readonly listedUntil: number;
  /** True if the explorer is behind. */
  readonly isBehind: boolean;
  /** The rounds; `undefined` if they are not known at the moment. */
  readonly rounds: Rounds | undefined;
  /** True if alerts are held: the explorer is behind, the network stands still, or its rhythm has changed. */
  readonly onHold: boolean;
  /** True if this reading may show a silence, which the next one confirms. */
  readonly mayDoubt: boolean;
  /** True if this reading may also confirm a silence. */
  readonly mayCall: boolean;
}

/** A watched validator that the explorer did not know. */
export interface MissingValidator {
  readonly validator: string;
  /** Time when the explorer first said so, epoch ms. */
  readonly since: number;
}

/** State of a running poll. */
export interface Poll extends NetworkReading {
  readonly loaded: Loaded;
  readonly reading: ActivityReading;
  /** Versions of the active validators of the network. */
  readonly survey: VersionSurvey;
  readonly directory: Directory;
  /** The last decision about the network's next upgrade. */
  readonly upgradeDecision: UpgradeDecision | undefined;
  /**
   * Each channel's missing validators, if the explorer has probably lost many from its list: they then count as delisted only after a
   * day. `undefined` if few are missing.
   */
  readonly missing: ReadonlyMap<string, readonly MissingValidator[]> | undefined;
  /** Times when the explorer last said that it does not know a validator, epoch ms. */
  readonly missedAt: ReadonlyMap<string, number>;
  readonly found: PollFindings;
  /** Start of the poll, epoch ms. */
  readonly now: number;
}

/** Returns an alert, including changes from this poll. */
export const alertIn = ({ found, loaded }: Poll, id: string): Alert | undefined =>
  found.alerts.get(id) ?? loaded.alerts.get(id);
