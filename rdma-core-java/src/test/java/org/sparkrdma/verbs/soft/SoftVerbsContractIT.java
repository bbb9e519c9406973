// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.junit.jupiter.api.Tag;

/** The contract suite over the soft engine of the packaged jar, on newer Java only. */
@Tag("newer")
class SoftVerbsContractIT extends SoftVerbsContractTest {}
