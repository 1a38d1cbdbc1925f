export const formatClockDifference = (ms: number): string => {
  const seconds = Math.abs(ms) / 1_000
  if (seconds < 1) return 'The clocks agree.'
  return `This machine is ${seconds < 120 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds / 60)} min`} ${ms > 0 ? 'ahead' : 'behind'}; times on the pages are those of the server.`
}

/** Lists the script files of a page. Their names contain a hash of the content. */
export const listScripts = (html: string): readonly string[] =>
  [...html.matchAll(/<script[^>]+src="(?:[^"]*\/)?([\w.-]+\.js)"/g)].map(([, name = '']) => name)
