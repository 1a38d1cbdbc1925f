interface Page<Node> {
  nodes: readonly Node[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

const pageSizeMax = 100

/** Every node of a list, read page by page. */
export async function everyNode<Node>(
  read: (variables: { first: number; after: string | null }) => Promise<Page<Node>>,
): Promise<Node[]> {
  const nodes: Node[] = []
  let after: string | null = null
  do {
    const page: Page<Node> = await read({ first: pageSizeMax, after })
    nodes.push(...page.nodes)
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after !== null)
  return nodes
}
