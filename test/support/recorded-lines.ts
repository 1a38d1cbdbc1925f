/** Records the lines of a log: `createLog('warn', { destination })`. */
export function recordLines() {
  const lines: Record<string, unknown>[] = []
  return { lines, destination: { write: (line: string) => void lines.push(JSON.parse(line)) } }
}
