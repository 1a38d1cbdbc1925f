/** A line of JSON in lines of its own; null: the line is no object. */
export function formatJsonLine(text: string): string | null {
  if (!isJsonLine(text)) return null
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return null
  }
}

const charactersMax = 262_144

/** Looks like an object; the text is parsed when it is opened. */
export const isJsonLine = (text: string): boolean =>
  text.length <= charactersMax && /^\s*\{\s*"/.test(text) && /\}\s*$/.test(text)
