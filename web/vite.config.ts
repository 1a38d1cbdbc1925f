import { defaultClientConditions, defineConfig } from 'vite'
import { bundleDocuments } from './bundle-documents.ts'

/** `@berth-jobs/berth/client` is the source of this repository. `npx vite web` serves the console beside a running server. */
export default defineConfig({
  root: import.meta.dirname,
  // Relative: a proxy may serve the console below a path.
  base: './',
  plugins: [bundleDocuments],
  resolve: { conditions: ['berth-source', ...defaultClientConditions] },
  css: { modules: { generateScopedName: '[hash:base64:6]' } },
  server: {
    fs: { allow: ['..'] },
    proxy: { '/graphql': { target: process.env['BERTH_URL'] ?? 'http://127.0.0.1:4000', ws: true } },
  },
  build: {
    outDir: 'dist',
    target: 'es2023',
    // The content security policy allows files of the server, and no data: URLs or inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Styles of nearly every page: one file is smaller than many.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'styles', test: /parts\/[\w-]+\.module\.css/ }] } },
    },
  },
})
