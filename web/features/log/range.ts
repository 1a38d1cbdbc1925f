/** The selected lines, which the fragment of the URL names: `#L120` or `#L120-L140`. */
export interface Range {
  from: number
  to: number
}

export function parseRange(hash: string): Range | null {
  const [, from, to = from] = hash.match(/^#L(\d{1,12})(?:-L?(\d{1,12}))?$/) ?? []
  if (from === undefined || to === undefined || from === '0') return null
  const [a, b] = [Number(from), Number(to)]
  return { from: Math.min(a, b), to: Math.max(a, b) }
}

export const formatRange = ({ from, to }: Range): string => (from === to ? `L${from}` : `L${from}-L${to}`)

export type Target = { line: number } | { at: string }

/** Reads a line number, a date, or a time of day (the last such time before `endMs`); null: the text is none of these. */
export function parseTarget(text: string, endMs: number): Target | null {
  const wanted = text.trim().replaceAll(',', '')
  if (/^[Ll]?\d{1,12}$/.test(wanted)) return { line: Math.max(1, Number(wanted.replace(/^L/i, ''))) }
  const [, hours, minutes, seconds = '0'] = wanted.match(/^(\d{1,2}):(\d{2})(?::(\d{2}))?$/) ?? []
  if (hours === undefined) {
    const ms = /^\d{4}-\d{2}/.test(wanted) ? Date.parse(wanted) : Number.NaN
    return Number.isNaN(ms) ? null : { at: new Date(ms).toISOString() }
  }
  const at = new Date(endMs)
  at.setHours(Number(hours), Number(minutes), Number(seconds), 0)
  if (at.getTime() > endMs) at.setDate(at.getDate() - 1)
  return { at: at.toISOString() }
}
