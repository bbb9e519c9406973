// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

/** The contract suite over the soft engine of the packaged jar, on Java 22 and newer. */
class SoftVerbsContractOnJava22IT extends SoftVerbsContractTest {}
