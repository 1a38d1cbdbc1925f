/** Returns an object that `make` creates when one of its properties is first read. */
export const createDeferred = <T extends object>(make: () => T): T => createRenewable(make).value

/** Like `createDeferred`, but the object is created again at the first read after `renew`. */
export function createRenewable<T extends object>(make: () => T): { value: T; renew: () => void } {
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
