export const readErrorCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

/** Returns null if the file does not exist. */
export const nullIfMissing = <T>(work: Promise<T>): Promise<T | null> => nullOnCode('ENOENT', work)

/** Returns null if the file does not exist. */
export function nullIfMissingSync<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Returns null if the work failed with this code. */
export async function nullOnCode<T>(code: string, work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (readErrorCode(error) === code) return null
    throw error
  }
}

/** true: a directory of the path is missing, or another file is in its place. A dangling link causes both errors. */
export const isMissingFolder = (error: unknown): boolean =>
  ['EEXIST', 'ELOOP', 'ENOENT', 'ENOTDIR'].includes(String(readErrorCode(error)))
