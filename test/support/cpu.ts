/** Processor time that this process has used, in ms: a busy machine adds none. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
