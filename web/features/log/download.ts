import { type CreateDownloadInput, type DownloadFormat, MakeDownloadDocument } from '../../generated/graphql.ts'
import { baseUrl, client } from '../../ground/connection.ts'
import { showToast } from '../../parts/toasts.tsx'
import { allStreams } from './line-store.ts'

/** Creates a URL with a ticket for this download only; null: the server refused, and a toast says why. */
async function makeDownloadUrl(input: CreateDownloadInput): Promise<string | null> {
  const { createDownload } = await client.request(MakeDownloadDocument, { input }, { attempts: 4 })
  if (createDownload.__typename === 'CreateDownloadSuccess') return new URL(createDownload.url, baseUrl).href
  showToast(createDownload.message, { isTrouble: true })
  return null
}

/** Lets the browser download the file. */
async function download(input: CreateDownloadInput): Promise<void> {
  const url = await makeDownloadUrl(input)
  if (url === null) return
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  link.click()
}

export const makeArtifactUrl = (artifactId: string): Promise<string | null> => makeDownloadUrl({ artifactId })

export const downloadArtifact = (artifactId: string): Promise<void> => download({ artifactId })

/** Downloads all files of a job as a tar archive. */
export const downloadFiles = (jobId: string): Promise<void> => download({ filesOfJob: jobId })

export const downloadLog = (jobId: string, run: number, format: DownloadFormat): Promise<void> =>
  download({ log: { jobId, run, format, streams: [...allStreams] } })
