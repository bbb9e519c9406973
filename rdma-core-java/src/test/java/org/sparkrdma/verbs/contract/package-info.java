/**
 * What a verbs engine does, as tests that run over every engine: {@link
 * org.sparkrdma.verbs.contract.VerbsContract} is the ground of the topics, {@link
 * org.sparkrdma.verbs.contract.EngineUnderTest} says which engine, {@link
 * org.sparkrdma.verbs.contract.Deviation} lists where one may differ.
 */
package org.sparkrdma.verbs.contract;
