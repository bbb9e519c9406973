// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.junit.jupiter.api.Tag;

/**
 * The contract suite over the soft engine of the packaged jar, on a newer Java. {@link
 * SoftVerbsContractTest} runs it every day on the Java of the build.
 */
@Tag("nightly")
class SoftVerbsContractIT extends SoftVerbsContractTest {}
