/** What `import … from 'wakeful/testing'` means here: this checkout. */
export * from '../../src/testing/index.ts'
