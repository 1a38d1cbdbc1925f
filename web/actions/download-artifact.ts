import { baseUrl, client } from '../app/connection.ts'
import { MakeDownloadDocument } from '../generated/graphql.ts'
import { showToast } from '../parts/toasts.tsx'

/** The address of the body of an artifact, with a ticket for it alone; null: refused, and the reason is shown. */
export async function makeDownloadUrl(artifactId: string): Promise<string | null> {
  const { createDownload } = await client.request(MakeDownloadDocument, { input: { artifactId } }, { attempts: 4 })
  if (createDownload.__typename === 'CreateDownloadSuccess') return new URL(createDownload.url, baseUrl).href
  showToast(createDownload.message, { isTrouble: true })
  return null
}

export async function downloadArtifact(artifactId: string): Promise<void> {
  const url = await makeDownloadUrl(artifactId)
  if (url === null) return
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  link.click()
}
