// SPDX-License-Identifier: Apache-2.0
/**
 * The engine on the system's libibverbs and librdmacm. They are called through java.lang.foreign on
 * Java 22 and newer, and through jffi before.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.ibverbs.IbverbsProvider}, the only public one. The
 * engine has no thread: the card and the kernel do the work, and the polling thread does the rest.
 */
package org.sparkrdma.verbs.ibverbs;
