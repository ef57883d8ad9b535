/** What `import … from 'wakeful'` means to the examples and to the code blocks of the docs: this checkout. */
export * from '../../src/index.ts'
