/** What `import … from 'wakeful/client'` means here: this checkout. */
export * from '../../src/client/index.ts'
