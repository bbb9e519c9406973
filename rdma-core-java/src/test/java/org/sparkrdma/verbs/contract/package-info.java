// SPDX-License-Identifier: Apache-2.0
/**
 * The contract of a verbs engine, as tests that run on every engine. {@link
 * org.sparkrdma.verbs.contract.VerbsContract} is their base class, {@link
 * org.sparkrdma.verbs.contract.EngineUnderTest} names the engine, {@link
 * org.sparkrdma.verbs.contract.Deviation} lists allowed differences.
 */
package org.sparkrdma.verbs.contract;
