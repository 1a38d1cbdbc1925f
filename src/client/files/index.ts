/** The package entry `@berth-jobs/berth/files`: snapshots of folders, for programs in Node. */

export { type FolderOptions, FolderRefused, type GitFacts } from './folder.ts'
export {
  type UploadedSnapshot,
  type UploadOptions,
  type UploadProgress,
  uploadFile,
  uploadSnapshot,
} from './snapshot.ts'
export { type HereInput, submit } from './submit.ts'
