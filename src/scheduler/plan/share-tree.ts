import { listAccountsAbove } from '../../domain/accounts.ts'
import type { Lane } from '../../domain/lanes.ts'

/**
 * The tree of fair shares. A job uses resources in the name of every node of its path: the accounts that its account is
 * below, by the dots of the name, that account, and last the person (`ml`, `ml.nlp`, `ml.nlp/user_1`). Nodes below one
 * node compete by share and weight. Two jobs are compared at the first nodes of their paths that differ. accounts.ts
 * keeps the shares, ordering-policies.ts compares them.
 */

export const toLeaf = ({ account, userId }: Pick<Lane, 'account' | 'userId'>): string => `${account}/${userId}`

/** Returns the nodes from the highest account down to `node`. No account is above the account of a person. */
export function listPathTo(node: string): string[] {
  const [account = ''] = node.split('/', 1)
  const accounts = listAccountsAbove(account)
  if (accounts.length > 1 && accounts[0] === 'users') accounts.shift()
  return account === node ? accounts : [...accounts, node]
}

const paths = new WeakMap<object, readonly string[]>()

export function getSharePath(lane: Lane): readonly string[] {
  const path = paths.get(lane) ?? listPathTo(toLeaf(lane))
  paths.set(lane, path)
  return path
}

export const isAccount = (node: string): boolean => !node.includes('/')

/** Returns the first nodes at which the paths differ; null: the paths are equal. */
export function findPartingNodes(one: readonly string[], other: readonly string[]): [string, string] | null {
  for (const [depth, node] of one.entries()) {
    const sibling = other[depth]
    if (sibling !== undefined && sibling !== node) return [node, sibling]
  }
  return null
}
