/** Null instead of an error of the file system that says that there is nothing of this name, or another code. */
export const unlessMissing = <T>(work: Promise<T>): Promise<T | null> => unlessCode('ENOENT', work)

export async function unlessCode<T>(code: string, work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return null
    throw error
  }
}
