import { defaultClientConditions, defineConfig } from 'vite'

/** `berth/client` is the source of this repository here. A project that installs berth needs nothing of this. */
export default defineConfig({
  resolve: { conditions: ['berth-source', ...defaultClientConditions] },
  server: { fs: { allow: ['..', '../..'] } },
  build: { emptyOutDir: true },
})
