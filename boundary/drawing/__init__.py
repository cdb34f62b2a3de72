"""Pictures of grids.

Takes grids and the places that ghosts read. Gives drawings of blocks, links and ghosts.
"""
