import { childFunctions, readScript } from '../process/scripts.ts'

export const batchScript = childFunctions + readScript(import.meta.dirname, 'batch.sh')
/** Puts the environment of the job in place, and what Slurm has set beside it. */
export const enterScript = readScript(import.meta.dirname, 'enter.sh')
/** One process of `multiple` over several nodes. */
export const rankScript = readScript(import.meta.dirname, 'rank.sh')

/** A word of a shell that stands for exactly this text. */
export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
