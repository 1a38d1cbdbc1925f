import { baseUrl, client } from '../app/connection.ts'
import { type DownloadFormat, MakeDownloadDocument } from '../generated/graphql.ts'
import { allStreams } from '../log/line-store.ts'
import { showToast } from '../parts/toasts.tsx'

/** The browser downloads the file itself, with a ticket for this log alone. */
export async function downloadLog(jobId: string, run: number, format: DownloadFormat): Promise<void> {
  const input = { jobId, run, format, streams: [...allStreams] }
  const { createDownload } = await client.request(MakeDownloadDocument, { input }, { attempts: 4 })
  if (createDownload.__typename !== 'CreateDownloadSuccess')
    return showToast(createDownload.message, { isTrouble: true })
  const link = document.createElement('a')
  link.href = new URL(createDownload.url, baseUrl).href
  link.download = ''
  link.click()
}
