import type { RequestFailed } from '@berth-jobs/berth/client'
import { useEffect, useState } from 'react'
import { ClusterChangesDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { toFailure } from '../../ground/to-failure.ts'
import { applyChange, type ClusterPool, type MapNode } from './node-changes.ts'

export interface Cluster {
  /** By name; null: not read yet. */
  nodes: readonly MapNode[] | null
  pool: ClusterPool | null
  failure: RequestFailed | null
}

/** Nodes come in several messages; one picture shows those of this time. */
const pictureMs = 50
const byName = new Intl.Collator('en', { numeric: true })

/** The nodes of a pool, live. */
export function useNodes(pool: string): Cluster {
  const [state, setState] = useState<Cluster>({ nodes: null, pool: null, failure: null })
  useEffect(() => {
    const leave = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let nodes = new Map<string, MapNode>()
    const follow = async () => {
      for await (const { nodeUpdates } of client.subscribe(
        ClusterChangesDocument,
        { pool },
        { signal: leave.signal },
      )) {
        if (nodeUpdates.__typename !== 'NodesChanged') continue
        nodes = applyChange(nodes, nodeUpdates)
        const { pool: facts } = nodeUpdates
        clearTimeout(timer)
        timer = setTimeout(() => setState({ nodes: sortNodes(nodes), pool: facts, failure: null }), pictureMs)
      }
    }
    follow().catch((error: unknown) => {
      const failure = toFailure(error)
      if (!leave.signal.aborted) setState((before) => ({ ...before, failure }))
    })
    return () => {
      leave.abort()
      clearTimeout(timer)
    }
  }, [pool])
  return state
}

const sortNodes = (nodes: ReadonlyMap<string, MapNode>) =>
  [...nodes.values()].toSorted((a, b) => byName.compare(a.name, b.name))
