import { serverNowMs } from '../ground/server-clock.ts'
import { formatClock, formatDuration } from './format.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters of a terminal
const hidden = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

const controlPictures = 0x2400
const deleteCode = 0x7f

/** Control characters as pictures (␀), marks of direction and others by their number (⟨U+202E⟩). */
export const reveal = (text: string): string =>
  text.replace(hidden, (character) => {
    const code = character.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(controlPictures + code)
    return code === deleteCode ? '␡' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })

/** The name of a job for a person; its id, if it has none. */
export const nameJob = ({ id, name }: { id: string; name: string | null }): string =>
  name === null ? id : reveal(name)

/** RFC 3339 in UTC, as the API writes every moment. */
const moments = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g
const seconds = /\b(\d+) s\b/g
/** Levels of users as the API writes them: RESEARCHER. */
const levels = /\blevel [A-Z]+\b/g

/** A sentence of the server: moments in the zone of the reader, seconds in longer units, levels as words. */
export const formatServerText = (text: string): string =>
  reveal(
    text
      .replace(moments, (moment) => formatClock(Date.parse(moment), serverNowMs()))
      .replace(seconds, (_, count) => formatDuration(Number(count) * 1_000))
      .replace(levels, (level) => level.toLowerCase()),
  )
