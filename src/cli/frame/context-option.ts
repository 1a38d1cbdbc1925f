import { type Command, Option } from 'commander'
import { findCommandPath } from './command-path.ts'

/** `--context NAME` before or behind every verb chooses the server of a command. */

export function addContextOption(command: Command): void {
  if (!command.options.some(({ long }) => long === '--context'))
    command.addOption(new Option('--context <context>', 'use this server; "berth context ls" lists them'))
  for (const each of command.commands) addContextOption(each)
}

/**
 * The value of the option, before the command line is parsed. Parsing leaves values of options behind, so a program of its
 * own does it.
 */
export function readContextOption(createProgram: () => Command, words: readonly string[]): string | undefined {
  const path = findCommandPath(createProgram(), words)
  for (const [i, command] of path.entries()) command.parseOptions(words.slice(i))
  return path.map((each) => each.opts<{ context?: string }>().context).findLast((name) => name !== undefined)
}

/** `--context NAME verb` becomes `verb --context NAME`. */
export function moveContextOption(program: Command, words: readonly string[]): string[] {
  const length = words[0] === '--context' ? 2 : words[0]?.startsWith('--context=') ? 1 : 0
  const rest = words.slice(length)
  const at = findCommandPath(program, rest).length - 1
  return at === 0 ? [...words] : [...rest.slice(0, at), ...words.slice(0, length), ...rest.slice(at)]
}
