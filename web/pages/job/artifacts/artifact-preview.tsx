import { lazy, Suspense } from 'react'
import { makeArtifactUrl } from '../../../features/log/download.ts'
import { ArtifactContentDocument, type ArtifactRowFragment } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { loadPart } from '../../../ground/load-part.ts'
import { useResource } from '../../../ground/resource.ts'
import { Failed, Loading } from '../../../parts/page-states.tsx'
import { Address } from './artifact-address.tsx'
import styles from './artifacts-tab.module.css'

const Markdown = lazy(async () => ({ default: (await loadPart(() => import('./markdown.tsx'))).MarkdownText }))

/** Text, JSON, Markdown and pictures; of everything else the address. The text is data: no HTML of it is shown. */
export function ArtifactPreview({ artifact }: { artifact: ArtifactRowFragment }) {
  const { id, uri, mediaType } = artifact
  const isPicture = uri === null && mediaType.startsWith('image/')
  const { value, failure, read } = useResource(`artifact ${id}`, async (signal) => {
    const { node } = await client.request(ArtifactContentDocument, { id }, { attempts: 4, signal })
    const content = node && 'body' in node ? node : { body: null, metadata: null }
    return { ...content, picture: isPicture ? await makeArtifactUrl(id) : null }
  })
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const { body, metadata, picture } = value
  return (
    <div className={styles.preview}>
      {uri !== null && <Address uri={uri} />}
      {picture !== null && <img src={picture} alt={artifact.name} className={styles.picture} />}
      {body !== null && picture === null && <Body body={body} mediaType={mediaType} />}
      {metadata && (
        <section aria-label="Metadata">
          <h3 className={styles.faint}>Metadata</h3>
          <pre className={styles.text}>{JSON.stringify(metadata, null, 2)}</pre>
        </section>
      )}
    </div>
  )
}

const isJson = (mediaType: string) => /^application\/(?:.*\+)?json\b/.test(mediaType)

function Body({ body, mediaType }: { body: string; mediaType: string }) {
  if (mediaType.startsWith('text/markdown'))
    return (
      <Suspense fallback={<Loading />}>
        <Markdown text={body} />
      </Suspense>
    )
  return <pre className={styles.text}>{isJson(mediaType) ? formatJson(body) : body}</pre>
}

/** Text that is no JSON stays as it is. */
function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
