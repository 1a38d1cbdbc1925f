/** The variables of the server that jobs inherit by name. */
export const pickVariables = (
  environment: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]] as const])),
  )
