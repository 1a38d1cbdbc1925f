import { serverNowMs } from '../ground/server-clock.ts'
import { formatClock, formatDuration } from './format.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters of a terminal
const hidden = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

const controlPictures = 0x2400

/** Makes invisible characters visible: control characters as ␀, and others, such as bidi marks, as ⟨U+202E⟩. */
export const reveal = (text: string): string =>
  text.replace(hidden, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20
      ? String.fromCharCode(controlPictures + code)
      : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })

/** Returns the name of a job, or its id if it has no name. */
export const nameJob = ({ id, name }: { id: string; name: string | null }): string =>
  name === null ? id : reveal(name)

/** Matches RFC 3339 times in UTC, the format of the API. */
const moments = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g
const seconds = /\b(\d+) s\b/g
/** Matches values of enums in sentences: "level RESEARCHER", "is QUEUED, not RUNNING". */
const enumWords = /\b(?:level|is|or|not|being) [A-Z]{4,}\b/g

/** Formats a message of the server: times in the local time zone, seconds in longer units, enum values as words. */
export const formatServerText = (text: string): string =>
  reveal(
    text
      .replace(moments, (moment) => formatClock(Date.parse(moment), serverNowMs()))
      .replace(seconds, (_, count) => formatDuration(Number(count) * 1_000))
      .replace(enumWords, (words) => words.toLowerCase()),
  )
