import { childFunctions, readScript } from '../process/scripts.ts'

export const batchScript = childFunctions + readScript(import.meta.dirname, 'batch.sh')
/** Sets the environment of the job and Slurm's variables. */
export const enterScript = readScript(import.meta.dirname, 'enter.sh')
/** One process of `multiple` over several nodes. */
export const rankScript = readScript(import.meta.dirname, 'rank.sh')

/** The text as one word of a shell. */
export const quoteWord = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
