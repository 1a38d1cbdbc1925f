import { baseUrl, client } from '../app/connection.ts'
import { MakeDownloadDocument } from '../generated/graphql.ts'
import { showToast } from '../parts/toasts.tsx'

/** The browser downloads the file itself, with a ticket for this log alone. */
export async function downloadLog(jobId: string, run: number): Promise<void> {
  const { createDownload } = await client.request(MakeDownloadDocument, { input: { jobId, run } }, { attempts: 4 })
  if (createDownload.__typename !== 'CreateDownloadSuccess')
    return showToast(createDownload.message, { isTrouble: true })
  const link = document.createElement('a')
  link.href = new URL(createDownload.url, baseUrl).href
  link.download = ''
  link.click()
}
