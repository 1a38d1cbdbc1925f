import { Link } from '@tanstack/react-router'
import { ListJobsDocument } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { Button } from '../../parts/button.tsx'
import { Empty, Failed, Loading } from '../../parts/page-states.tsx'
import { nameJob } from '../../parts/server-text.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './compare.module.css'

const jobsShown = 50

/** Lists the viewer's newest jobs, to choose one for the comparison. */
export function Choice({ ids }: { ids: readonly string[] }) {
  const { viewer } = useStart()
  const filter = { users: [viewer.user.id] }
  const { value, failure, read } = useQuery(ListJobsDocument, { first: jobsShown, filter })
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const others = value.jobs.nodes.filter(({ id }) => !ids.includes(id))
  if (others.length === 0)
    return (
      <Empty title="No other job to compare with" actions={<Button href="./jobs">All jobs</Button>}>
        Your newest jobs appear here. Jobs of others are compared from the list: select two to four of them.
      </Empty>
    )
  return (
    <section className={styles.page}>
      <p className={styles.lead}>
        {ids.length === 0
          ? 'Choose the first of two jobs. The list of jobs can compare up to four: select them there.'
          : 'Choose the job to compare with.'}
      </p>
      <Table
        label="Your newest jobs"
        rows={others}
        getKey={({ id }) => id}
        columns={[
          {
            title: 'Name',
            cell: ({ id, name }) => (
              <Link to="/jobs/compare" search={{ ids: [...ids, id].join(',') }} className={styles.link}>
                {nameJob({ id, name })}
              </Link>
            ),
          },
          { title: 'State', cell: ({ state }) => <StateChip state={state} /> },
          { title: 'Submitted', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
    </section>
  )
}
