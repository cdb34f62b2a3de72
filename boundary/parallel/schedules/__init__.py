"""Communication schedules: halo requirements of subdomains, and exchanges between ranks.

Input: a kernel of the distributed form, and a partition. Output: exchanges, messages and their
order as values, for all ranks or for one.
"""
