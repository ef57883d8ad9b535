/** What `import … from 'wakeful/server'` means here: this checkout. */
export * from '../../src/server/index.ts'
