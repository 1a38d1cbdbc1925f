/** Made when something of it is first asked for; what is never asked costs one object. */
export const deferred = <T extends object>(make: () => T): T => renewable(make).value

/** The same, made again when something is asked for after `renew`. */
export function renewable<T extends object>(make: () => T): { value: T; renew: () => void } {
  let made: T | undefined
  const value = new Proxy<T>({} as T, {
    get(_, name) {
      made ??= make()
      return Reflect.get(made, name)
    },
  })
  const renew = () => {
    made = undefined
  }
  return { value, renew }
}
