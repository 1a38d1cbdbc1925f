/** Formats a line of JSON on several lines; null: the line is not a JSON object. */
export function formatJsonLine(text: string): string | null {
  if (!isJsonLine(text)) return null
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return null
  }
}

const charactersMax = 262_144

/** true: the line looks like a JSON object. It is parsed only when the user opens it. */
export const isJsonLine = (text: string): boolean =>
  text.length <= charactersMax && /^\s*\{\s*"/.test(text) && /\}\s*$/.test(text)
