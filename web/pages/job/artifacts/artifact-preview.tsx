import { lazy, Suspense } from 'react'
import { makeArtifactUrl } from '../../../features/log/download.ts'
import { ArtifactContentDocument, type JobArtifactFragment } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { loadPart } from '../../../ground/load-part.ts'
import { useResource } from '../../../ground/resource.ts'
import { parseCsv } from '../../../parts/csv.ts'
import { Failed, Loading } from '../../../parts/page-states.tsx'
import { Address } from './artifact-address.tsx'
import styles from './artifacts-tab.module.css'

const Markdown = lazy(async () => ({ default: (await loadPart(() => import('./markdown.tsx'))).MarkdownText }))

/** Previews text, JSON, Markdown, CSV and pictures. HTML is never rendered, because the content is not trusted. */
export function ArtifactPreview({ artifact }: { artifact: JobArtifactFragment }) {
  const { id, uri, mediaType, kind } = artifact
  const isPicture = uri === null && pictureTypes.includes(mediaType)
  const { value, failure, read } = useResource(`artifact ${id}`, async (signal) => {
    const { node } = await client.request(ArtifactContentDocument, { id }, { attempts: 4, signal })
    const content = node && 'body' in node ? node : { body: null, metadata: null }
    const body = content.body ?? (isPicture ? null : await readText(artifact, signal))
    return { ...content, body, picture: isPicture ? await makeArtifactUrl(id) : null }
  })
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const { body, metadata, picture } = value
  return (
    <div className={styles.preview}>
      {uri !== null && <Address uri={uri} />}
      {picture !== null && <img src={picture} alt={artifact.name} className={styles.picture} />}
      {kind === 'FILE' && body === null && picture === null && (
        <p className={styles.faint}>No preview of {mediaType}. Download the file to see it.</p>
      )}
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

/** Types shown as pictures. SVG is missing, because the server sends it as bytes only. */
const pictureTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const shownBytesMax = 256 * 1024

/** Reads the beginning of a text file; null: the artifact is not a text file. */
async function readText({ id, kind, mediaType, sizeBytes }: JobArtifactFragment, signal: AbortSignal) {
  if (kind !== 'FILE' || !/^text\/|\b(json|yaml)\b/.test(mediaType)) return null
  if (sizeBytes === 0) return ''
  const url = await makeArtifactUrl(id)
  if (url === null) return null
  const response = await fetch(url, { headers: { range: `bytes=0-${shownBytesMax - 1}` }, signal })
  const text = await response.text()
  if (!response.ok) throw new Error(text.trim() || `The server answered ${response.status}`)
  return (sizeBytes ?? 0) > shownBytesMax ? `${text}\n… the rest is in the file` : text
}

const isJson = (mediaType: string) => /^application\/(?:.*\+)?json\b/.test(mediaType)

function Body({ body, mediaType }: { body: string; mediaType: string }) {
  if (mediaType.startsWith('text/markdown'))
    return (
      <Suspense fallback={<Loading />}>
        <Markdown text={body} />
      </Suspense>
    )
  if (mediaType.startsWith('text/csv')) return <CsvTable text={body} />
  return <pre className={styles.text}>{isJson(mediaType) ? formatJson(body) : body}</pre>
}

const csvRowsMax = 200

function CsvTable({ text }: { text: string }) {
  const [head = [], ...rows] = parseCsv(text, csvRowsMax + 1)
  return (
    <div className={styles.markdown}>
      <table>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={`${i} ${cell}`}>{cell}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={`${i} ${row[0]}`}>
              {row.map((cell, j) => (
                <td key={`${j} ${cell}`}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === csvRowsMax && <p className={styles.faint}>The first {csvRowsMax} rows</p>}
    </div>
  )
}

/** Formats JSON. Other text is returned unchanged. */
function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
