import { extname } from 'node:path/posix'

const types: Readonly<Record<string, readonly string[]>> = {
  'text/plain': ['txt', 'log', 'out', 'err', 'py', 'sh', 'ts', 'js', 'toml', 'ini', 'cfg', 'tsv'],
  'text/csv': ['csv'],
  'text/markdown': ['md'],
  'text/html': ['html', 'htm'],
  'application/json': ['json'],
  'application/yaml': ['yaml', 'yml'],
  'application/pdf': ['pdf'],
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/gif': ['gif'],
  'image/webp': ['webp'],
  'image/svg+xml': ['svg'],
}

const byEnding = new Map(Object.entries(types).flatMap(([type, endings]) => endings.map((each) => [`.${each}`, type])))

/** Returns the media type for the extension of the name. */
export const chooseMediaType = (path: string): string =>
  byEnding.get(extname(path).toLowerCase()) ?? 'application/octet-stream'
