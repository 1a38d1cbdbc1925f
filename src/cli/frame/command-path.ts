import type { Command, Option } from 'commander'

/** Returns the program and the commands that the first words name. */
export function findCommandPath(program: Command, words: readonly string[]): [Command, ...Command[]] {
  const path: [Command, ...Command[]] = [program]
  for (const word of words) {
    const next = path.at(-1)?.commands.find((each) => each.name() === word)
    if (!next) break
    path.push(next)
  }
  return path
}

export const findOption = ({ options }: Command, flag: string): Option | undefined =>
  options.find(({ long, short }) => long === flag || short === flag)

/** Counts the words of a command before "--". */
export function countWordsBeforeSeparator(command: Command): number {
  let root = command
  while (root.parent) root = root.parent
  const { rawArgs } = root as unknown as { rawArgs: readonly string[] }
  const at = rawArgs.indexOf('--')
  return command.args.length - (at === -1 ? 0 : rawArgs.length - at - 1)
}
