/** Processor time of this process in ms, which does not depend on the load of the machine. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
